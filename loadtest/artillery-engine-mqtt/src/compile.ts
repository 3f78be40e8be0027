import type { Context, Events, Helpers, Script } from './artillery.ts';
import { StepError } from './step-error.ts';
import { connect } from './steps/connect.ts';
import { disconnect } from './steps/disconnect.ts';
import { expectMessages } from './steps/expect.ts';
import { callFunction, log, loop, think } from './steps/flow.ts';
import { barrier, drain, roles } from './steps/meeting.ts';
import { publish } from './steps/publish.ts';
import type { Compiler, Step, StepMaker } from './steps/step.ts';
import { subscribe, unsubscribe } from './steps/subscribe.ts';

const MAKERS: Readonly<Record<string, StepMaker>> = {
  connect,
  subscribe,
  unsubscribe,
  publish,
  expect: expectMessages,
  think,
  loop,
  barrier,
  drain,
  roles,
  disconnect,
  log,
  function: callFunction,
};

/** @throws {StepError} for a step that is unknown or invalid, before anything is sent */
export function compile(flow: readonly unknown[], { config }: Script, helpers: Helpers): readonly Step[] {
  const compiler: Compiler = {
    flow: (specs, path) => specs.map((spec, index) => stepOf(spec, compiler, `${path}[${index}]`)),
    processor: (name) => {
      const { processor = {} } = config;
      const call = Object.hasOwn(processor, name) ? processor[name] : undefined;
      return call && ((context, events) => promised(call, context, events));
    },
    think: (spec) => {
      const wait = helpers.createThink(spec, config.defaults?.think ?? {});
      return (context) =>
        new Promise((resolve, reject) => wait(context, (error) => (error ? reject(error) : resolve())));
    },
  };
  return compiler.flow(flow, 'flow');
}

function stepOf(spec: unknown, compiler: Compiler, path: string): Step {
  if (typeof spec === 'string' && Object.hasOwn(MAKERS, spec)) return stepOf({ [spec]: {} }, compiler, path);
  if (typeof spec !== 'object' || spec === null)
    throw new StepError(`${path} is no step: ${JSON.stringify(spec)}`);
  const name = Object.keys(spec).find((key) => Object.hasOwn(MAKERS, key));
  const maker = name === undefined ? undefined : MAKERS[name];
  if (name === undefined || maker === undefined) {
    const known = Object.keys(MAKERS).join(', ');
    throw new StepError(`${path} has no step that this engine knows (${known}): ${JSON.stringify(spec)}`);
  }
  return maker((spec as Record<string, unknown>)[name], compiler, path, spec);
}

type Call = NonNullable<NonNullable<Script['config']['processor']>[string]>;

/** Functions with three parameters use a callback; the others may return a promise. */
function promised(call: Call, context: Context, events: Events): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error?: Error): void => (error === undefined ? resolve() : reject(error));
    const returned = call(context, events, done);
    if (call.length < 3) Promise.resolve(returned).then(() => resolve(), reject);
  });
}
