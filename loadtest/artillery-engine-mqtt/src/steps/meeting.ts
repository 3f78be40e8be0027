import { StepFields } from '../fields.ts';
import { StepError } from '../step-error.ts';
import { runFlow, type Step, type StepMaker } from './step.ts';

const SECONDS_MAX = 86_400;
const BARRIER_SECONDS = 600;
const SILENCE_SECONDS = 2;
const LOOK_MS = 50;
const USERS_MAX = 1_000_000;

/**
 * `barrier: { name: "subscribed", users: 1001 }`: waits until this many virtual users have reached it, over all workers
 * of this Artillery process, or have failed before. After `within` seconds the user goes on, and that is counted.
 */
export const barrier: StepMaker = (value) => {
  const fields = new StepFields('barrier', value);
  const name = fields.needText('name');
  const users = fields.number('users', 1, USERS_MAX) ?? fields.fail('users', 'is given');
  const within = fields.number('within', 0, SECONDS_MAX) ?? BARRIER_SECONDS;
  fields.nothingElse();
  return async (user) => {
    user.barriers.add(name);
    const isOpen = await user.around.barriers.wait(name, users, within * 1_000);
    if (isOpen) return;
    user.around.recorder.problem(`a virtual user waited at the barrier "${name}" in vain`);
    user.around.events.emit('error', 'mqtt.barrier_timeout');
  };
};

/** `drain: { silence: 3 }`: waits until no message has come for this long, `within` seconds at most. */
export const drain: StepMaker = (value) => {
  const fields = new StepFields('drain', value === true ? {} : value);
  const silence = fields.number('silence', 0, SECONDS_MAX) ?? SILENCE_SECONDS;
  const within = fields.number('within', 0, SECONDS_MAX) ?? BARRIER_SECONDS;
  fields.nothingElse();
  return async (user) => {
    const beganMs = performance.now();
    for (;;) {
      const nowMs = performance.now();
      const sinceMs = nowMs - Math.max(user.lastMessageAtMs, beganMs);
      if (sinceMs >= silence * 1_000 || nowMs - beganMs >= within * 1_000) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  };
};

interface Role {
  readonly name: string;
  readonly users: number;
  readonly steps: readonly Step[];
}

/**
 * `roles: [{ name: subscriber, users: 1000, flow: [...] }, ...]`: the first thousand virtual users of a worker that
 * come here are subscribers, and so on in order. The numbers are exact; Artillery's weights are random. Users beyond
 * the last role do nothing. `$role` is the role's name, `$place` the user's number within it.
 */
export const roles: StepMaker = (value, compiler, path) => {
  if (!Array.isArray(value) || value.length === 0)
    throw new StepError(`${path}: roles takes a list of roles`);
  const all = value.map((each: unknown, index): Role => {
    const fields = new StepFields('roles', each);
    const name = fields.needText('name');
    const users = fields.number('users', 1, USERS_MAX) ?? fields.fail('users', 'is given');
    const steps = compiler.flow(fields.list('flow'), `${path}.roles[${index}]`);
    fields.nothingElse();
    return { name, users, steps };
  });
  let next = 0;
  return async (user) => {
    let index = next;
    next += 1;
    const role = all.find(({ users }) => {
      if (index < users) return true;
      index -= users;
      return false;
    });
    if (role === undefined) return;
    user.place = { index, of: role.users };
    Object.assign(user.context.vars, { $role: role.name, $place: index });
    await runFlow(role.steps, user);
  };
};
