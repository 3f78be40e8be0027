import type { Log } from '@apus/broker';
import { Logger } from '@aws-lambda-powertools/logger';
import { METRICS_SERVICE } from '../metrics/metric-names.ts';
import type { Variables } from './settings.ts';
import { VARIABLES } from './variables.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const LEVEL_DEFAULT = 'warn';

const nothing = (): void => {};

/**
 * Lines of JSON, from a level on. Powertools takes its level from Lambda's own control, and that has to let INFO pass,
 * or the lines that CloudWatch reads metrics from would be held back with the rest.
 */
export function functionLog(variables: Variables): Log {
  const logger = new Logger({ serviceName: METRICS_SERVICE });
  const level = variables[VARIABLES.logLevel]?.toLowerCase() ?? LEVEL_DEFAULT;
  const least = LEVELS.indexOf(level as (typeof LEVELS)[number]);
  if (least < 0) {
    throw new Error(
      `the environment variable ${VARIABLES.logLevel} is ${level}: it is one of ${LEVELS.join(', ')}`,
    );
  }
  const write =
    (each: (typeof LEVELS)[number]): Log['warn'] =>
    (event, fields) =>
      logger[each](event, { ...fields });
  const from = (each: (typeof LEVELS)[number]) => (LEVELS.indexOf(each) >= least ? write(each) : nothing);
  return { debug: from('debug'), info: from('info'), warn: from('warn'), error: from('error') };
}
