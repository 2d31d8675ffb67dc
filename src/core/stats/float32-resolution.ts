/**
 * The smallest difference in log-probability that means anything in float32: float32 implementations of one model
 * differ from each other and from float64 by up to 5e-6, rounded up (docs/observed.md#numerics).
 */
export const FLOAT32_RESOLUTION = 2e-5;
