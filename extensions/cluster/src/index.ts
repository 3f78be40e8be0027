export { openCluster } from './open-cluster.ts';
