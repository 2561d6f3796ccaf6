"""Build the compiled kernels; where there is no compiler the plain Python twin serves, so the extension is optional."""

from Cython.Build import cythonize
from setuptools import Extension, setup

setup(
    ext_modules=cythonize(
        [
            Extension(
                "webwinnow._kernels.compiled",
                ["src/webwinnow/_kernels/compiled.pyx"],
                extra_compile_args=["-O3"],
                optional=True,
            )
        ],
        compiler_directives={"language_level": 3},
    )
)
