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

/** How many nested causes are read. */
const DEPTH_MAX = 8;

/**
 * The message of an error with those of its causes: the client only says that it cannot connect, and the cause says
 * why.
 */
export function textOf(error: unknown): string {
  const message = messageOf(error);
  const causes = [...new Set(causesOf(error, DEPTH_MAX))].filter((cause) => cause !== message);
  return causes.length === 0 ? message : `${message} ${causes.join('; ')}`;
}

/** The messages of the innermost causes. */
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
