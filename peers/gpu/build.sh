#!/bin/sh
# Compiles the CUDA kernels with the nvcc on the PATH (or $NVCC) to target/peers/cubin, and the host's stand-in for
# the driver beside them: build.sh [ARCH], by default sm_90.
set -e
here=$(cd "$(dirname "$0")" && pwd)
out=$here/../../target/peers/cubin
arch=${1:-sm_90}
mkdir -p "$out"
for source in "$here"/cuda/*.cu; do
    "${NVCC:-nvcc}" -cubin -arch="$arch" --use_fast_math -O3 -std=c++17 -o "$out/$(basename "$source" .cu).cubin" "$source"
done
"${CXX:-g++}" -O2 -std=c++17 -shared -fPIC -Wno-unknown-pragmas -o "$out/libhost.so" "$here/cuda/host/driver.cpp"
ls -l "$out"
