// worlds/layers.sim: 1 x 1 convolutions of an image, 16 channels to 16, each with bias and rectifier, and a mean.
//
// One kernel per layer, with the channels in memory between them, or one kernel for all. Channel c of pixel p is at
// c * pixels + p. Weights are arguments of the launch, so that they are in constant memory; those of all layers
// take 8.5 KiB, which CUDA 12.1 and later allow.
#include "peer.cuh"

constexpr int LAYERS = 8, CHANNELS = 16, PIXELS = 256;

struct Layer {
    float weight[CHANNELS][CHANNELS], bias[CHANNELS];
};
struct Layers {
    Layer layer[LAYERS];
};
struct Head {
    float weight[CHANNELS];
};

__device__ inline void load(float (&h)[CHANNELS], const float *__restrict__ from, int pixels, int pixel) {
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) h[c] = from[(size_t)c * pixels + pixel];
}

__device__ inline void apply(float (&h)[CHANNELS], const Layer &layer) {
    float next[CHANNELS];
#pragma unroll
    for (int o = 0; o < CHANNELS; o++) {
        next[o] = layer.bias[o];
#pragma unroll
        for (int i = 0; i < CHANNELS; i++) next[o] += layer.weight[o][i] * h[i];
    }
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) h[c] = fmaxf(next[c], 0.0f);
}

// The mean over the image of a block of the head's sum.
__device__ inline void pool(const float (&h)[CHANNELS], const Head &head, float *__restrict__ score) {
    __shared__ float parts[PIXELS / 32];
    float value = 0.0f;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) value += head.weight[c] * h[c];
    value = sum_of_lanes<32>(value);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x > 0) return;
    float total = 0.0f;
#pragma unroll
    for (int w = 0; w < PIXELS / 32; w++) total += parts[w];
    score[blockIdx.x] = total / (float)PIXELS;
}

#define IMAGE extern "C" __global__ void __launch_bounds__(PIXELS)

IMAGE layers_one(const float *__restrict__ from, float *__restrict__ to, int pixels, Layer layer) {
    int pixel = thread_number();
    float h[CHANNELS];
    load(h, from, pixels, pixel);
    apply(h, layer);
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) to[(size_t)c * pixels + pixel] = h[c];
}

IMAGE layers_last(const float *__restrict__ from, float *__restrict__ score, int pixels, Layer layer, Head head) {
    float h[CHANNELS];
    load(h, from, pixels, thread_number());
    apply(h, layer);
    pool(h, head, score);
}

IMAGE layers_fused(const float *__restrict__ from, float *__restrict__ score, int pixels, Layers all, Head head) {
    float h[CHANNELS];
    load(h, from, pixels, thread_number());
#pragma unroll
    for (int l = 0; l < LAYERS; l++) apply(h, all.layer[l]);
    pool(h, head, score);
}
