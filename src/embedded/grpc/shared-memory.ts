import type { CoreInferResponse, SharedMemory } from '../core/index.ts';
import type { OutputPlacement } from './infer-request.ts';

/** Puts the outputs that the client placed in shared memory there. Errors: CoreError of SharedMemory.write. */
export function placeOutputs(memory: SharedMemory, response: CoreInferResponse, placements: ReadonlyMap<string, OutputPlacement>): void {
  if (placements.size === 0) return;
  for (const tensor of response.outputs) {
    const placement = placements.get(tensor.name);
    if (placement !== undefined) memory.write(placement.region, placement.offset, placement.byteSize, tensor.data);
  }
}
