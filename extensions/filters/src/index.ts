export { type Condition, conditionOf, JSON_BYTES_MAX, type Verdict } from './condition.ts';
export { CelConditions } from './conditions.ts';
