import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../cli/cli-error.ts';
import { findScenario } from '../scenario/find-scenario.ts';
import { planOf } from '../scenario/plan.ts';
import { artilleryScript } from './script.ts';

/**
 * Writes a scenario at full size and for its whole time as a script for Artillery on any machine, with the packages
 * that it needs. Returns the instructions.
 */
export function exportScenario(
  given: readonly string[],
  scenarios: string,
  target = 'wss://broker.example/mqtt',
): string {
  const [name, folder, ...more] = given;
  if (name === undefined || folder === undefined || more.length > 0)
    throw new UsageError('`export` takes a scenario and a folder.');
  const scenario = findScenario(name, scenarios);
  const size = { scale: 1, seconds: scenario.durationSeconds, part: { number: 1, of: 1 } };
  const script = artilleryScript({
    scenario,
    plan: planOf(scenario, size),
    url: target,
    door: new URL(target).hostname.includes('.execute-api.') ? 'gateway' : 'node',
    credentials: { username: undefined, password: undefined, token: undefined },
    runTag: undefined,
    ledgers: 'ledgers',
  });
  const manifest = {
    private: true,
    dependencies: { artillery: '^2.0.21', 'artillery-engine-mqtt': '^0.1.0' },
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'script.json'), `${JSON.stringify(script, null, 2)}\n`);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  return [
    `${scenario.name} at full size is in ${folder}: script.json and package.json.`,
    `${scenario.fullSize}`,
    'Pack the engine with `npm pack` in loadtest/artillery-engine-mqtt and install it there, then',
    '  npx artillery run script.json',
    'or `artillery run-fargate` and `artillery run:lambda`, with an account of yours. Each worker writes its counts',
    'to its folder `ledgers`.',
  ].join('\n');
}
