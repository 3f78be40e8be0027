import type { BaseOptions } from '@platformatic/kafka';
import type { KafkaConnection } from '../configuration/kafka.ts';

/** A call that Kafka does not answer. */
const TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 3_000;
/** Of one call: the bridge tries again by itself. */
const RETRIES = 1;
const RETRY_DELAY_MS = 200;

export function connectionOptions(configuration: KafkaConnection): BaseOptions {
  const { brokers, clientId, tls, sasl } = configuration;
  return {
    clientId,
    bootstrapBrokers: [...brokers],
    timeout: TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retries: RETRIES,
    retryDelay: RETRY_DELAY_MS,
    ...(tls !== undefined && {
      tls: {
        ...(tls.ca !== undefined && { ca: tls.ca }),
        ...(tls.certificate !== undefined && { cert: tls.certificate }),
        ...(tls.key !== undefined && { key: tls.key }),
      },
    }),
    ...(sasl !== undefined && { sasl: { ...sasl } }),
  };
}

/** An error with the errors that it gathers. */
export function textOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0)
    return `${error.message} ${error.errors.map(textOf).join('; ')}`;
  return error instanceof Error ? error.message : String(error);
}
