import { StepFields } from '../fields.ts';
import { StepError, UserError } from '../step-error.ts';
import { runFlow, type StepMaker } from './step.ts';

const ROUNDS_MAX = 100_000_000;

/**
 * `loop: [steps], count: 10` or `over: variable`; `$loopCount` and `$loopElement` are the present round and element.
 */
export const loop: StepMaker = (value, compiler, path, spec) => {
  if (!Array.isArray(value)) throw new StepError(`${path}: loop takes a list of steps`);
  const fields = new StepFields('loop', spec);
  fields.given('loop');
  const count = fields.amount('count');
  const over = fields.given('over');
  fields.nothingElse();
  if ((count === undefined) === (over === undefined))
    fields.fail('count', 'or "over" is given, one of the two');
  const steps = compiler.flow(value, `${path}.loop`);
  return async (user) => {
    const { vars } = user.context;
    const list = over === undefined ? undefined : typeof over === 'string' ? vars[over] : over;
    if (list !== undefined && !Array.isArray(list))
      throw new UserError('bad_loop', `${String(over)} is no list`);
    const rounds = list?.length ?? user.fillNumber(count ?? 0, 'count');
    if (rounds > ROUNDS_MAX) throw new UserError('bad_loop', `${rounds} rounds are too many`);
    for (let round = 0; round < rounds && !user.isStopped; round += 1) {
      vars.$loopCount = round;
      vars.$loopElement = list?.[round] ?? round;
      await runFlow(steps, user);
    }
  };
};

/** Artillery's own `think`: seconds, or text such as "500ms". */
export const think: StepMaker = (_value, compiler, _path, spec) => {
  const wait = compiler.think(spec);
  return (user) => wait(user.context);
};

export const log: StepMaker = (value) => {
  const text = String(value);
  return async (user) => {
    process.stdout.write(`${user.fillText(text)}\n`);
  };
};

/** `function: name`: a function of the script's processor. */
export const callFunction: StepMaker = (value, compiler, path) => {
  const found = compiler.processor(String(value));
  if (found === undefined) throw new StepError(`${path}: the processor has no function "${String(value)}"`);
  return (user) => found(user.context, user.around.events);
};
