"""Build the Cython kernels (`src/webwinnow/**/_*.pyx`), which requires a C compiler."""

import os
import shutil
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

SOURCE = Path("src")
FLAGS = os.environ.get("WEBWINNOW_KERNEL_FLAGS", "/O2" if os.name == "nt" else "-O3").split()
"""Compiler flags; tools/sanitized.py has others."""


class BuildKernels(build_ext):
    """Translates the kernels to C in build/, and reports a missing compiler in one sentence."""

    def build_extensions(self) -> None:
        """Compile all kernels, or fail."""
        command = getattr(self.compiler, "compiler_so", None)  # absent on Windows, where setuptools reports it
        if command and shutil.which(command[0]) is None:
            raise CompileError(f"building webwinnow requires a C compiler, and {command[0]} is not installed")
        written = cythonize(self.extensions, build_dir="build/cython", compiler_directives={"language_level": 3})
        sources = {kernel.name: kernel.sources for kernel in written}
        for kernel in self.extensions:
            kernel.sources = sources[kernel.name]
        super().build_extensions()


kernels = [
    Extension(".".join(path.relative_to(SOURCE).with_suffix("").parts), [path.as_posix()], extra_compile_args=FLAGS)
    for path in sorted(SOURCE.glob("webwinnow/**/_*.pyx"))
]

setup(ext_modules=kernels, cmdclass={"build_ext": BuildKernels})
