import { CoreError, type CoreInferResponse, type SharedMemory } from '../core/index.ts';
import type { OutputPlacement } from './infer-request.ts';

/** Puts the outputs that the client placed in shared memory there. Errors: CoreError of SharedMemory.write. */
export function placeOutputs(memory: SharedMemory, response: CoreInferResponse, placements: ReadonlyMap<string, OutputPlacement>): void {
  if (placements.size === 0) return;
  for (const tensor of response.outputs) {
    const placement = placements.get(tensor.name);
    if (placement === undefined) continue;
    memory.read(placement.region, placement.offset, 0);
    if (tensor.data.length > placement.byteSize) {
      throw new CoreError(
        'INTERNAL',
        `shared memory size specified with the request for output '${tensor.name}' (${placement.byteSize} bytes) should be at least ${tensor.data.length} bytes to hold the results`,
      );
    }
    memory.write(placement.region, placement.offset, placement.byteSize, tensor.data);
  }
}
