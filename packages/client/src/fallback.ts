export type { Wire } from './fallback/carrier.ts';
export {
  createFallback,
  type Fallback,
  type FallbackOptions,
  type FallbackStatistics,
} from './fallback/fallback.ts';
