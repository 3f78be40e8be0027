export { BRIDGES_MAX, type BridgeConfiguration, readBridges } from './configuration/configuration.ts';
export { HOPS_PROPERTY } from './hops.ts';
export { openBridges } from './open-bridges.ts';
export { readBridgesFile, readRulesFile } from './read-bridges-file.ts';
export { RULES_MAX, type RuleConfiguration, readRules } from './rules/configuration/rules.ts';
