import { Token } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';

/** A prop has a wrong value. The message names the prop, the allowed values and the given one. */
export class PropsError extends Error {
  override readonly name = 'PropsError';

  constructor(scope: IConstruct, sentence: string) {
    super(`${scope.node.path}: ${sentence}`);
  }
}

/** Bounds of a number, both included; a whole one. */
export interface Range {
  readonly least: number;
  /** `Number.MAX_SAFE_INTEGER`: there is none. */
  readonly most: number;
  /** A hint for the owner. */
  readonly hint?: string | undefined;
}

/** @throws {PropsError} for a number outside its range; a number that is only known at deployment is accepted */
export function checkRange(scope: IConstruct, name: string, value: number | undefined, range: Range): void {
  const { least, most, hint } = range;
  if (value === undefined || Token.isUnresolved(value)) return;
  if (Number.isInteger(value) && value >= least && value <= most) return;
  const end = most === Number.MAX_SAFE_INTEGER ? 'up' : `to ${most.toLocaleString('en')}`;
  const bounds = `from ${least.toLocaleString('en')} ${end}`;
  const more = hint === undefined ? '' : ` ${hint}`;
  throw new PropsError(scope, `${name} is a whole number ${bounds}, not ${value}.${more}`);
}
