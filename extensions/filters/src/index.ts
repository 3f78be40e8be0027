export { type Condition, conditionOf } from './condition.ts';
export { CelConditions } from './conditions.ts';
export { JSON_BYTES_MAX } from './limits.ts';
export type { Verdict } from './verdict.ts';
