/** Releases that known gaps share, by name; the tests hold every list to what the profiles say. */
export const EVERY_MODELS: readonly string[] = ['0.19', '1.x', '1.0', '1.1', '1.2'];
export const BEFORE_COUNTS: readonly string[] = ['r24.11', 'r25.05', 'r25.06', 'r25.07', 'r25.08', 'r25.09', 'r25.10'];
export const BEFORE_ECHO: readonly string[] = [...BEFORE_COUNTS, 'r25.11'];
/** Of NVIDIA's front end for Triton. */
export const EVERY_FRONT_END: readonly string[] = [...BEFORE_ECHO, 'r25.12', 'r26.04', 'r26.06', 'main', 'main-numpy2'];
