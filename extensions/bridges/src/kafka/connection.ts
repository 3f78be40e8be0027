import type { BaseOptions } from '@platformatic/kafka';
import type { KafkaConnection } from '../configuration/kafka.ts';

/** The time limit of a call that Kafka does not answer. */
const TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 3_000;
/** Retries of one call: 0, since the bridge tries again itself. */
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
