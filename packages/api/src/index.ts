/** The operations of the HTTP API (`/api/v5`), and the OpenAPI document that is made of them. */

export { apiPage } from './markdown.ts';
export { type Figures, METRICS, type MetricName, STATS, type StatName } from './metric-names.ts';
export { API_PATH, openApiDocument } from './open-api.ts';
export type { Door, Method, Operation, Role } from './operation.ts';
export { OPERATION_IDS, OPERATIONS, type OperationId } from './operations/index.ts';
export { LIMIT_DEFAULT, LIMIT_MAX } from './operations/parameters.ts';
export {
  counter,
  emqxName,
  gauge,
  NODE_NAME,
  PROMETHEUS_TYPE,
  type ProcessSamples,
  prometheusText,
  type Sample,
} from './prometheus.ts';
export { type Routed, routeOf } from './route.ts';
export type { Schema } from './schema.ts';
