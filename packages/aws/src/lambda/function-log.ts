import { type Log, plainLines } from '@apus/broker';
import { Logger } from '@aws-lambda-powertools/logger';
import { LOG_LEVEL, readOption, type Variables, variableOf } from '../function-options.ts';
import { METRICS_SERVICE } from '../metrics/metric-names.ts';

/** The most important level is the first. */
const LEVELS = LOG_LEVEL.choices;
const LEVEL_DEFAULT = 'warn';

const nothing = (): void => {};

/** `aws logs tail` prints a line as it is. */
const asPlainText = (_name: string, value: unknown): unknown =>
  typeof value === 'string' ? plainLines(value) : value;

/**
 * Lines of JSON, from a level on. Powertools takes its level from Lambda's own control, and that has to let INFO pass,
 * or the lines that CloudWatch reads metrics from would be held back with the rest.
 */
export function functionLog(variables: Variables): Log {
  const logger = new Logger({ serviceName: METRICS_SERVICE, jsonReplacerFn: asPlainText });
  const level = readOption(variables, variableOf('logLevel'), LOG_LEVEL) ?? LEVEL_DEFAULT;
  const least = LEVELS.indexOf(level);
  const write =
    (each: (typeof LEVELS)[number]): Log['warn'] =>
    (event, fields) =>
      logger[each](event, { ...fields });
  const from = (each: (typeof LEVELS)[number]) => (LEVELS.indexOf(each) <= least ? write(each) : nothing);
  return { debug: from('debug'), info: from('info'), warn: from('warn'), error: from('error') };
}
