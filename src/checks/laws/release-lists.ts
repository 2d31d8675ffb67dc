/** Releases that known gaps share, by name; the tests hold every list to what the profiles say. */
export const EVERY_CORE: readonly string[] = [
  '2.36',
  '2.39',
  '2.41',
  '2.42',
  '2.43',
  '2.44',
  '2.45',
  '2.46',
  '2.47',
  '2.48',
  '2.49',
  '2.50',
  '2.51',
  '2.65',
  '2.65+2.51',
  '2.71',
  '2.71+2.51',
];
export const EVERY_MODELS: readonly string[] = ['0.19', '1.x', '1.0', '1.1', '1.2'];
export const BEFORE_COUNTS: readonly string[] = ['r24.11', 'r25.05', 'r25.06', 'r25.07', 'r25.08', 'r25.09', 'r25.10'];
export const BEFORE_ECHO: readonly string[] = [...BEFORE_COUNTS, 'r25.11'];
/** Of NVIDIA's front end for Triton. */
export const EVERY_FRONT_END: readonly string[] = [...BEFORE_ECHO, 'r25.12', 'r26.04', 'r26.06', 'main', 'main-numpy2'];
