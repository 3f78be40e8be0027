import type { CreateFunction } from '../gateway/create-gateway.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { functionSettings } from '../options.ts';
import { Schedule } from './schedule.ts';

/** Creates the functions without a route, and starts the schedules. */
export function startTriggers(gateway: Gateway, createFunction: CreateFunction): void {
  const { schedules, functions } = gateway.settings;
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
