export { type GrpcServer, startGrpcServer } from './server.ts';
