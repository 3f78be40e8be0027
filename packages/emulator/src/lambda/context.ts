import type { FunctionSettings } from '../options.ts';
import type { LambdaContext } from './types.ts';

interface ContextParts {
  readonly settings: FunctionSettings;
  readonly region: string;
  readonly accountId: string;
  readonly environmentId: string;
  readonly requestId: string;
  readonly remainingMs: () => number;
}

export function lambdaContext(parts: ContextParts): LambdaContext {
  const { functionName, memoryMegabytes } = parts.settings;
  return {
    awsRequestId: parts.requestId,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:${parts.region}:${parts.accountId}:function:${functionName}`,
    memoryLimitInMB: String(memoryMegabytes),
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: `[$LATEST]${parts.environmentId}`,
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: parts.remainingMs,
  };
}

/**
 * The variables that Lambda itself puts into `process.env`, without the credentials, which are different in each
 * environment.
 */
export function lambdaVariables(settings: FunctionSettings, region: string): Record<string, string> {
  return {
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x',
    AWS_LAMBDA_FUNCTION_NAME: settings.functionName,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(settings.memoryMegabytes),
    ...settings.variables,
  };
}
