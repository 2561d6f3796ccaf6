"""Build the compiled kernels; where there is no compiler the plain Python twin serves, so the extension is optional."""

from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class OptionalBuild(build_ext):
    """Goes on without what cannot be compiled, and says so."""

    def build_extension(self, extension: Extension) -> None:
        """Compile one extension, if that works here."""
        try:
            super().build_extension(extension)
        except Exception as error:
            self.warn(f"{extension.name} is not compiled ({error}); plain Python does its work, more slowly")


kernels = cythonize(
    [
        Extension(f"webwinnow._kernels.{source.stem}", [str(source)], extra_compile_args=["-O3"])
        for source in sorted(Path("src/webwinnow/_kernels").glob("compiled*.pyx"))
    ],
    compiler_directives={"language_level": 3},
)
for kernel in kernels:
    kernel.optional = True  # cythonize does not pass it on

setup(ext_modules=kernels, cmdclass={"build_ext": OptionalBuild})
