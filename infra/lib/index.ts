export { ApusBroker } from './apus-broker.ts';
export { ApusStack, type ApusStackProps } from './apus-stack.ts';
export type * from './authentication-props.ts';
export { ApusCluster } from './cluster/apus-cluster.ts';
export type * from './cluster/cluster-props.ts';
export { pointAtEmulator } from './point-at-emulator.ts';
export type * from './props.ts';
export { PropsError } from './props-error.ts';
export type * from './table-props.ts';
