import type { BaseOptions } from '@platformatic/kafka';
import type { KafkaConnection } from '../configuration/kafka.ts';

/** A call that Kafka does not answer. */
const TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 3_000;
/** Retries of one call: the bridge tries again by itself. */
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

/** How far down causes are followed. */
const DEPTH_MAX = 8;

/** An error with the errors that are behind it: the client says that it cannot connect, and its cause says why. */
export function textOf(error: unknown): string {
  const message = messageOf(error);
  const causes = [...new Set(causesOf(error, DEPTH_MAX))].filter((cause) => cause !== message);
  return causes.length === 0 ? message : `${message} ${causes.join('; ')}`;
}

/** The messages at the ends. */
function causesOf(error: unknown, depth: number): readonly string[] {
  const behind = error instanceof AggregateError ? error.errors : causeOf(error);
  if (behind.length === 0 || depth === 0) return [messageOf(error)];
  return behind.flatMap((each) => causesOf(each, depth - 1));
}

function causeOf(error: unknown): readonly unknown[] {
  return error instanceof Error && error.cause !== undefined ? [error.cause] : [];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
