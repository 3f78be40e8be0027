import { validationError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import type { Parameters } from '../parameters.ts';
import type { Condition } from './condition.ts';
import { ExpressionError } from './expression-error.ts';
import { parseCondition } from './parse-condition.ts';
import { parseUpdate } from './parse-update.ts';
import { Placeholders } from './placeholders.ts';
import { type Projection, parseProjection } from './projection.ts';
import type { Update } from './update.ts';

type Parse<T> = (expression: string, placeholders: Placeholders) => T;

/** The expressions of one request, or of one table in a batch. Every parse throws a ValidationException. */
export class Expressions {
  readonly #parameters: Parameters;
  readonly #placeholders: Placeholders;

  /** @param names the parameters that may hold an expression here */
  constructor(parameters: Parameters, names: readonly string[]) {
    this.#parameters = parameters;
    refusePlaceholdersAlone(parameters, names);
    this.#placeholders = new Placeholders(
      parameters.map('ExpressionAttributeNames'),
      parameters.map('ExpressionAttributeValues'),
    );
  }

  condition(name: 'ConditionExpression' | 'FilterExpression' | 'KeyConditionExpression') {
    return this.#parse<Condition>(name, parseCondition);
  }

  update(): Update | undefined {
    return this.#parse('UpdateExpression', parseUpdate);
  }

  projection(): Projection | undefined {
    return this.#parse('ProjectionExpression', parseProjection);
  }

  /** Call it after the last expression: the request has to use every name and value that it defines. */
  finish(): void {
    this.#placeholders.refuseUnused();
  }

  #parse<T>(name: string, parse: Parse<T>): T | undefined {
    const expression = this.#parameters.text(name);
    if (expression === undefined) return undefined;
    try {
      checkLength(expression);
      return parse(expression, this.#placeholders);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      throw validationError(`Invalid ${name}: ${error.message}`);
    }
  }
}

function checkLength(expression: string): void {
  if (expression.trim() === '') throw new ExpressionError('The expression can not be empty;');
  const bytes = Buffer.byteLength(expression);
  if (bytes <= LIMITS.expressionBytesMax) return;
  throw new ExpressionError(
    `Expression size has exceeded the maximum allowed size; expression size: ${bytes}`,
  );
}

function refusePlaceholdersAlone(parameters: Parameters, names: readonly string[]): void {
  const isUsed = (name: string) => parameters.text(name) !== undefined;
  if (parameters.map('ExpressionAttributeNames') !== undefined && !names.some(isUsed)) {
    throw validationError('ExpressionAttributeNames can only be specified when using expressions');
  }
  const withValues = names.filter((name) => name !== 'ProjectionExpression');
  if (parameters.map('ExpressionAttributeValues') === undefined || withValues.some(isUsed)) return;
  throw validationError(
    `ExpressionAttributeValues can only be specified when using expressions: ${withValues.join(' and ')} ${
      withValues.length > 1 ? 'are' : 'is'
    } null`,
  );
}
