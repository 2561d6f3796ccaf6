"""Build the Cython kernels (`src/webwinnow/**/_*.pyx`), which requires a C compiler."""

import shutil
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

SOURCE = Path("src")


class BuildKernels(build_ext):
    """Reports a missing compiler in one sentence."""

    def build_extensions(self) -> None:
        """Compile all kernels, or fail."""
        command = getattr(self.compiler, "compiler_so", None)  # absent on Windows, where setuptools reports it
        if command and shutil.which(command[0]) is None:
            raise CompileError(f"building webwinnow requires a C compiler, and {command[0]} is not installed")
        super().build_extensions()


kernels = [
    Extension(".".join(path.relative_to(SOURCE).with_suffix("").parts), [path.as_posix()], extra_compile_args=["-O3"])
    for path in sorted(SOURCE.glob("webwinnow/**/_*.pyx"))
]

setup(
    ext_modules=cythonize(kernels, build_dir="build/cython", compiler_directives={"language_level": 3}),
    cmdclass={"build_ext": BuildKernels},
)
