/** A request of the owner to the function of rules: `apus rule … --stack NAME`, and the API of operators. */
export interface RulesRequest {
  readonly action: 'list' | 'dead' | 'send' | 'discard';
  /** @default the tenant `default` */
  readonly tenant?: string;
  /** Names the rule. */
  readonly name?: string;
  /** Names one dead letter. @default all of the rule */
  readonly id?: string;
  /** `dead` skips so many letters. @default 0 */
  readonly from?: number;
  /** `dead` shows at most so many letters. @default all that one look finds */
  readonly limit?: number;
}

/** A rule, as far as its function knows it. */
export interface RuleLine {
  readonly name: string;
  readonly filter: string;
  readonly when: string | null;
  readonly type: string;
  readonly remote: string;
  readonly dead_letters: number;
}

/** The mistake in the request, in a sentence. `missing`: which of the things that the request names does not exist. */
export interface RulesRefusal {
  readonly error: string;
  readonly missing?: 'rule' | 'letter';
}

export type RulesAnswer =
  | {
      readonly rules: readonly RuleLine[];
      /** Messages in the queue of all rules, and on their way, as SQS estimates them. */
      readonly waiting: number;
      readonly inflight: number;
    }
  /** `isAll`: there are no more. `isCut`: there are more, which this answer has no room for. */
  | { readonly letters: readonly object[]; readonly isAll: boolean; readonly isCut: boolean }
  /** `failure`: of the letter that its target does not take now. */
  | { readonly sent: number; readonly failure?: string }
  /** `isAll`: there were no more than one look finds. */
  | { readonly discarded: number; readonly isAll: boolean }
  | RulesRefusal;

/** Asks the function of rules. Rejects where it does not answer. */
export type AskRules = (request: RulesRequest, signal: AbortSignal) => Promise<RulesAnswer>;
