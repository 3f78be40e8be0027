import { textOf } from '@apus/identity';
import { type SignedFetchOptions, signedFetch } from '../http/signed-fetch.ts';

/** A stage has some settings and tags. */
const ANSWER_BYTES_MAX = 64 * 1024;

const TIMEOUT_MS = 5_000;

/** The stage as the breaker changes it. */
export interface Stage {
  /** Undefined: the stage has no throttle. */
  readonly framesPerSecond: number | undefined;
  /** Undefined: API Gateway does not say. */
  readonly updatedAtMs: number | undefined;
}

export interface StageReaderOptions extends Omit<SignedFetchOptions, 'service'> {
  readonly apiId: string;
  readonly stageName: string;
}

/** Reads the stage from API Gateway, which bills nothing for it. @throws {Error} where it does not answer */
export function stageReader({ apiId, stageName, ...options }: StageReaderOptions): () => Promise<Stage> {
  const send = signedFetch({ ...options, service: 'apigateway' });
  const path = `/v2/apis/${apiId}/stages/${stageName}`;
  return async () => {
    const response = await send({ method: 'GET', path, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await textOf(response, ANSWER_BYTES_MAX);
    if (response.status !== 200)
      throw new Error(`API Gateway answered ${response.status}: ${text.slice(0, 200)}`);
    return stageOf(JSON.parse(text));
  };
}

function stageOf(answer: {
  readonly defaultRouteSettings?: { readonly throttlingRateLimit?: number };
  readonly lastUpdatedDate?: string;
}): Stage {
  const updatedAtMs = Date.parse(answer.lastUpdatedDate ?? '');
  return {
    framesPerSecond: answer.defaultRouteSettings?.throttlingRateLimit,
    updatedAtMs: Number.isNaN(updatedAtMs) ? undefined : updatedAtMs,
  };
}
