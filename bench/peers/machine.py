"""What was measured on: the machine and the versions of all programs."""

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path


def field(path, key, default="unknown"):
    """The value after `key` and a colon or equals sign on the first such line."""
    for line in Path(path).read_text().splitlines():
        name, _, value = line.replace("=", ":", 1).partition(":")
        if name.strip() == key:
            return value.strip().strip('"')
    return default


def cores():
    """Cores behind the processors that we may use: two threads of one core share its units."""
    siblings = set()
    for processor in os.sched_getaffinity(0):
        path = Path(f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list")
        siblings.add(path.read_text().strip() if path.exists() else str(processor))
    return len(siblings)


def describe():
    flags = field("/proc/cpuinfo", "flags", "").split()
    return {
        "processor": field("/proc/cpuinfo", "model name", platform.machine()),
        "instructions": [name for name in ("avx2", "avx512f", "amx_tile") if name in flags],
        "processors": len(os.sched_getaffinity(0)),
        "cores": cores(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "os": field("/etc/os-release", "PRETTY_NAME", platform.system()),
        "kernel": f"{platform.system()} {platform.release()}",
        "load_before": os.getloadavg()[0],
    }


def package_version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def versions(mezzotint):
    done = subprocess.run([mezzotint, "--version"], capture_output=True, text=True, check=True)
    packages = {name: package_version(name) for name in ("torch", "openvino", "numpy")}
    return {"mezzotint": done.stdout.split()[-1], **packages,
            "python": platform.python_version()}
