"""Warp's cache of compiled kernels: a writable folder, and its contents."""

from __future__ import annotations

import errno
import os
import tempfile
from functools import cache
from pathlib import Path

import warp as wp

from . import kernel_objects, sealed_files
from .announcements import say
from .warp_start import init_warp

KERNELS = "wp_warpdyn_"
"""Prefix of the folders of our kernels; the cache also holds those of other programs."""


@cache
def start_kernel_cache() -> None:
    """Initialise Warp, with a temporary folder for this process if its cache cannot be written."""
    try:
        init_warp()
        _probe(kernel_cache_directory())
    except OSError as error:
        folder = _folder_of_this_process(error)
        cache = kernel_cache_directory().absolute()
        if not sealed_files.distrust_folder(cache, link=True):
            kernel_objects.read_only.append(cache)
        say(
            f"warning: Warp cannot keep compiled kernels in {wp.config.kernel_cache_dir} "
            f"({error.strerror}); this process compiles for itself alone, and so will the next. "
            + (
                "Set WARP_CACHE_PATH to a folder of your own, or "
                f"{sealed_files.SHARED}=1 if you trust all who can write there"
                if error.errno == errno.EKEYREJECTED
                else "Set WARP_CACHE_PATH to a folder that can be written"
            )
        )
        wp.config.kernel_cache_dir = folder
        wp.init()


def _probe(folder: Path) -> None:
    """Raise OSError if the folder cannot be written, or if other users can write there."""
    sealed_files.make_folder(folder)
    reason = sealed_files.distrust_folder(folder, link=True)
    if reason and folder.stat().st_uid == os.geteuid() and not any(folder.iterdir()):
        folder.chmod(0o700)  # Warp has just made it, in a process with an empty umask
    elif reason:
        raise OSError(errno.EKEYREJECTED, f"{reason}, and kernels in it would run as you")
    with tempfile.TemporaryFile(dir=folder):
        pass


def _folder_of_this_process(reason: OSError) -> str:
    """A new folder that is removed when the process ends."""
    try:
        _kept_alive.append(tempfile.TemporaryDirectory(prefix="warpdyn_kernels_"))
    except OSError as error:
        raise OSError(
            error.errno,
            f"kernels can be compiled neither into {wp.config.kernel_cache_dir} "
            f"({reason.strerror}) nor into a temporary folder ({error.strerror}); "
            "set WARP_CACHE_PATH, or TMPDIR, to a folder that can be written",
        ) from None
    return _kept_alive[-1].name


_kept_alive: list[tempfile.TemporaryDirectory] = []


def kernel_cache_directory() -> Path:
    """Warp's folder of compiled kernels, once it is initialised: WARP_CACHE_PATH, or the user's
    cache, with a subfolder for each version of Warp."""
    return Path(str(wp.config.kernel_cache_dir))


def has_compiled(kernel: wp.Kernel, device: wp.Device, block: int) -> bool:
    """True if a kernel is loaded or in the cache, so that it need not be compiled. `block`: threads
    of a block on CUDA."""
    if not wp.config.cache_kernels:
        return False
    if device.is_cpu:
        return kernel_objects.is_whole(kernel_objects.place_of(kernel.module, device))
    # Warp has a separate folder for each block size.
    folder = kernel_cache_directory() / kernel.module.get_module_identifier(block)
    try:
        return any(path.suffix in (".ptx", ".cubin") for path in folder.iterdir())
    except OSError:
        return False


def kernel_folders() -> list[Path]:
    """Folders of our kernels in the cache, one for each, and of interrupted compilations; no
    links."""
    folder = kernel_cache_directory()
    found = folder.glob(f"{KERNELS}*") if folder.is_dir() else ()
    return sorted(each for each in found if each.is_dir() and not each.is_symlink())
