/** What a service of AWS needs that stands beside the functions in one account: `EmulatorOptions.attach`. */
export { Activity } from './clock/activity.ts';
export { type Clock, systemClock } from './clock/clock.ts';
export { Random, randomSeed } from './clock/random.ts';
export { Shuffler } from './clock/shuffler.ts';
export { type Chance, type Delay, Dice } from './faults.ts';
export type { CreateFunction } from './gateway/create-gateway.ts';
export { type Gateway, schedule } from './gateway/gateway.ts';
export { uuid } from './ids.ts';
export type { LambdaFunction } from './lambda/function.ts';
export type { Outcome } from './lambda/invocation.ts';
export { isObject } from './lambda/proxy-result.ts';
export type { CreateEnvironment, Environment, Handler } from './lambda/types.ts';
export { type Attached, type FunctionOptions, functionSettings } from './options.ts';
