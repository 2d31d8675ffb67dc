import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import type { CudaRegion, SystemRegion } from '#wire/protocol/server-state.ts';
import type { CoreProfile } from '#core/profile/index.ts';
import { CoreError, type SharedMemory } from './types.ts';

/** mmap takes no other offsets. */
const PAGE_BYTES = 4096;

/**
 * Registered shared-memory regions. System regions are files of /dev/shm, opened at registration as shm_open would.
 * There is no GPU: registering a CUDA region always fails.
 */
export function sharedMemory({ cudaRegionsNamed, cudaHandlesOpened }: CoreProfile): SharedMemory & { close(): void } {
  const regions = new Map<string, SystemRegion & { readonly file: number }>();

  const regionOf = (name: string): SystemRegion & { readonly file: number } => {
    const region = regions.get(name);
    if (region === undefined) throw new CoreError('NOT_FOUND', `Unable to find shared memory region: '${name}'`);
    return region;
  };
  const within = (region: SystemRegion, offset: number, byteSize: number): void => {
    if (offset < 0 || offset >= region.byte_size)
      throw new CoreError('INVALID_ARG', `Invalid offset for shared memory region: '${region.name}'`);
    if (offset + byteSize > region.byte_size) {
      throw new CoreError('INVALID_ARG', `Invalid offset + byte size for shared memory region: '${region.name}'`);
    }
  };
  const describe = ({ name, key, offset, byte_size }: SystemRegion): SystemRegion => ({ name, key, offset, byte_size });

  return {
    systemStatus: (name) => {
      if (name === '') return [...regions.values()].map(describe);
      const region = regions.get(name);
      if (region === undefined) throw new CoreError('NOT_FOUND', `Unable to find system shared memory region: '${name}'`);
      return [describe(region)];
    },
    registerSystem: (name, key, offset, byteSize) => {
      if (regions.has(name)) throw new CoreError('ALREADY_EXISTS', `shared memory region '${name}' already in manager`);
      let file: number;
      try {
        if (!/^\/?[^/]+$/.test(key)) throw new Error('no shared-memory name');
        file = openSync(`/dev/shm/${key.replace(/^\//, '')}`, 'r+');
      } catch {
        throw new CoreError('INTERNAL', `Unable to open shared memory region: '${key}'`);
      }
      const problem =
        offset + byteSize > fstatSync(file).size
          ? new CoreError('INTERNAL', `Invalid shared memory region: '${key}'`)
          : offset % PAGE_BYTES !== 0
            ? new CoreError(
                'INVALID_ARG',
                `failed to register shared memory region '${name}': unable to process address spaceInvalid argument`,
              )
            : undefined;
      if (problem !== undefined) {
        closeSync(file);
        throw problem;
      }
      regions.set(name, { name, key, offset, byte_size: byteSize, file });
    },
    unregisterSystem: (name) => {
      for (const region of name === '' ? [...regions.values()] : [regions.get(name)]) {
        if (region === undefined) continue;
        closeSync(region.file);
        regions.delete(region.name);
      }
    },
    cudaStatus: (name): readonly CudaRegion[] => {
      if (regions.has(name))
        throw new CoreError('NOT_FOUND', `The region named '${name}' is registered as system shared memory, not CUDA shared memory`);
      if (name !== '')
        throw new CoreError('NOT_FOUND', `Unable to find ${cudaRegionsNamed.value ? 'cuda' : 'system'} shared memory region: '${name}'`);
      return [];
    },
    registerCuda: (name) => {
      if (cudaHandlesOpened.value)
        throw new CoreError(
          'INVALID_ARG',
          `failed to register CUDA shared memory region '${name}': failed to open CUDA IPC handle: CUDA driver version is insufficient for CUDA runtime version`,
        );
      throw new CoreError('INVALID_ARG', 'failed to register shared memory region: invalid args');
    },
    unregisterCuda: () => undefined,
    read: (name, offset, byteSize) => {
      const region = regionOf(name);
      within(region, offset, byteSize);
      const out = new Uint8Array(byteSize);
      readSync(region.file, out, 0, byteSize, region.offset + offset);
      return out;
    },
    write: (name, offset, byteSize, data) => {
      const region = regionOf(name);
      within(region, offset, byteSize);
      if (data.length > byteSize) {
        throw new CoreError(
          'INTERNAL',
          `shared memory size specified with the request for output (${byteSize} bytes) should be at least ${data.length} bytes to hold the results`,
        );
      }
      writeSync(region.file, data, 0, data.length, region.offset + offset);
    },
    close: () => {
      for (const region of regions.values()) closeSync(region.file);
      regions.clear();
    },
  };
}
