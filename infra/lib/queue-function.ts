import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import { BrokerFunction, type BrokerFunctionProps, calledAs } from './broker-function.ts';
import { BATCH_SIZE } from './defaults.ts';
import type { FunctionDefaults } from './functions.ts';
import { grantBroker, grantConsume, type Resources } from './permissions.ts';
import type { QueuePair } from './queues.ts';

export interface QueueFunctionProps
  extends FunctionDefaults,
    Pick<BrokerFunctionProps, 'entry' | 'description' | 'timeout'> {
  readonly resources: Resources;
  readonly queues: QueuePair;
  /** Variables besides those of every function. */
  readonly variables: Readonly<Record<string, string>>;
  /**
   * The most concurrent invocations.
   * @default as many as the account allows
   */
  readonly callsMax?: number;
}

/** A function with a broker that takes the messages of a queue, ten at a time. */
export function createQueueFunction(
  scope: Construct,
  id: string,
  { resources, queues, variables, callsMax, environment, ...props }: QueueFunctionProps,
): BrokerFunction {
  const lambda = new BrokerFunction(scope, id, {
    ...props,
    environment: { ...environment, ...variables },
    hasAlias: false,
  });
  grantBroker(lambda, resources);
  grantConsume(lambda, queues);
  const source = calledAs(lambda).addEventSourceMapping('Source', {
    eventSourceArn: queues.queue.queueArn,
    batchSize: BATCH_SIZE,
    ...(callsMax !== undefined && { maxConcurrency: callsMax }),
    reportBatchItemFailures: true,
  });
  acknowledge(
    source,
    'Serverless-LambdaEventSourceMappingDestination',
    'SQS sources have no destination for failures: the queue has one of dead letters.',
  );
  return lambda;
}
