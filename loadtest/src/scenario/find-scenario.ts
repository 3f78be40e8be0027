import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScenarioError } from './fields.ts';
import { readScenario } from './read-scenario.ts';
import type { Scenario } from './scenario.ts';

/** All scenarios of a folder, the basic set first. */
export function scenariosOf(folder: string): readonly Scenario[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => scenarioFromFile(join(folder, name)))
    .sort((a, b) => Number(b.basic) - Number(a.basic));
}

/**
 * A scenario by its name or by its file.
 *
 * @throws {ScenarioError} if it does not exist or is invalid
 */
export function findScenario(name: string, folder: string): Scenario {
  const path = name.endsWith('.json') ? name : join(folder, `${name}.json`);
  if (!existsSync(path)) {
    const names = scenariosOf(folder).map((scenario) => scenario.name);
    throw new ScenarioError(
      `there is no scenario "${name}"; there are ${names.join(', ')}, and files of yours`,
    );
  }
  return scenarioFromFile(path);
}

function scenarioFromFile(path: string): Scenario {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new ScenarioError(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  return readScenario(json);
}
