import { expect, test } from 'vitest';
import { mpirunCommand, STOCK_PROGRAM } from './mpirun.ts';

// Derived by hand from get_cmd of launch_triton_server.py (NVIDIA/TensorRT-LLM 0a2e2c1f) for --world_size 2 --model_repo /repo.
const TWO_RANKS =
  'mpirun --allow-run-as-root -n 1 /opt/tritonserver/bin/tritonserver --model-repository=/repo --grpc-port=8001 --http-port=8000 --metrics-port=8002 --grpc-port=8001 --http-port=8000 --metrics-port=8002 --disable-auto-complete-config --backend-config=python,shm-region-prefix-name=prefix0_ : -n 1 /opt/tritonserver/bin/tritonserver --model-repository=/repo --grpc-port=8001 --http-port=8000 --metrics-port=8002 --model-control-mode=explicit --load-model=tensorrt_llm --grpc-port=8001 --http-port=8000 --metrics-port=8002 --disable-auto-complete-config --backend-config=python,shm-region-prefix-name=prefix1_ :';

test('two ranks are started as the stock script starts them', () => {
  expect(mpirunCommand({ worldSize: 2, program: STOCK_PROGRAM, repository: '/repo' }).join(' ')).toBe(TWO_RANKS);
});

test('ports, names of shared memory and further arguments are those of every rank', () => {
  const command = mpirunCommand({
    worldSize: 3,
    program: 'tritonserver',
    repository: '/r',
    ports: { grpc: 1, http: 2, metrics: 3 },
    prefix: 'mine_',
    more: ['--exit-timeout-secs=5'],
  });
  expect(command.filter((word) => word.startsWith('--backend-config'))).toEqual(
    [0, 1, 2].map((rank) => `--backend-config=python,shm-region-prefix-name=mine_${rank}_`),
  );
  expect(command.filter((word) => word === '--http-port=2')).toHaveLength(6);
  expect(command.filter((word) => word === '--exit-timeout-secs=5')).toHaveLength(3);
});
