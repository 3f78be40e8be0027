import { EventSource } from '../event-source/event-source.ts';
import { eventSourceSettings } from '../event-source/options.ts';
import type { CreateFunction } from '../gateway/create-gateway.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { functionSettings } from '../options.ts';
import type { QueueOptions } from '../sqs/queue-options.ts';
import { Schedule } from './schedule.ts';

/** Creates the queues and the functions without a route, and starts the event sources and schedules. */
export function startTriggers(gateway: Gateway, createFunction: CreateFunction): void {
  const { eventSources, queues, schedules, functions } = gateway.settings;
  for (const queue of deadLetterQueuesFirst(queues)) gateway.sqs.create(queue);
  for (const options of eventSources) {
    const queue = gateway.sqs.find(options.queue);
    const lambda = functionSettings(options.function, `apus-${options.queue.replace('.', '-')}`);
    const settings = eventSourceSettings(options, queue, lambda.timeoutMs);
    const target = createFunction(lambda, options.function.createEnvironment);
    new EventSource(gateway, queue, settings, target).start();
  }
  for (const options of schedules) {
    const lambda = functionSettings(options.function, options.name ?? 'apus-schedule');
    new Schedule(gateway, options, createFunction(lambda, options.function.createEnvironment)).start();
  }
  for (const options of functions)
    gateway.invoked.set(
      options.functionName,
      createFunction(functionSettings(options), options.createEnvironment),
    );
}

/** A dead-letter queue has to exist before a queue can name it. */
function deadLetterQueuesFirst(queues: readonly QueueOptions[]): QueueOptions[] {
  const byName = new Map(queues.map((queue) => [queue.name, queue]));
  const ordered = new Set<QueueOptions>();
  const visit = (queue: QueueOptions, path: readonly QueueOptions[]): void => {
    if (path.includes(queue)) throw new Error(`${queue.name} is its own dead-letter queue in the end`);
    const target = byName.get(queue.redrive?.deadLetterQueue ?? '');
    if (target !== undefined) visit(target, [...path, queue]);
    ordered.add(queue);
  };
  for (const queue of queues) visit(queue, []);
  return [...ordered];
}
