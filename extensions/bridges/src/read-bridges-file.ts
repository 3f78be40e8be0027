import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigurationError } from '@apus/identity';
import { type BridgeConfiguration, readBridges } from './configuration/configuration.ts';
import type { Place } from './configuration/place.ts';
import { type RuleConfiguration, readRules } from './rules/configuration/rules.ts';

/** Bytes of the file, which holds only configuration. */
const FILE_BYTES_MAX = 1024 * 1024;

/**
 * Reads a file of bridges, with the files and variables that it refers to.
 *
 * @throws {ConfigurationError} that names the place
 */
export function readBridgesFile(path: string): readonly BridgeConfiguration[] {
  return readBridges(parsed(path), placeOf(path));
}

/**
 * Reads a file of rules, with the files and variables that it refers to.
 *
 * @throws {ConfigurationError} that names the place
 */
export function readRulesFile(path: string): readonly RuleConfiguration[] {
  return readRules(parsed(path), placeOf(path));
}

function placeOf(where: string): Place {
  return { where, directory: dirname(resolve(where)), environment: process.env, nowMs: Date.now() };
}

function parsed(path: string): unknown {
  try {
    const text = readFileSync(path, 'utf8');
    if (text.length > FILE_BYTES_MAX) throw new Error(`the file has more than ${FILE_BYTES_MAX} bytes`);
    return JSON.parse(text);
  } catch (error) {
    throw new ConfigurationError(`${path}: ${(error as Error).message}.`, { cause: error });
  }
}
