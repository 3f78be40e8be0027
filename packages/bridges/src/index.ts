export { BRIDGES_MAX, type BridgeConfiguration, readBridges } from './configuration/configuration.ts';
export { HOPS_PROPERTY } from './hops.ts';
export { openBridges } from './open-bridges.ts';
export { readBridgesFile } from './read-bridges-file.ts';
