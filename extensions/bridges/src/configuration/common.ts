/** The fields that every bridge has. */
export interface BridgeCommon {
  readonly name: string;
  /**
   * The tenant whose messages the bridge carries.
   * @default 'default'
   */
  readonly tenant: string;
  /** A message that has crossed this many bridges goes no further. */
  readonly hopsMax: number;
}

/** The default of `hopsMax`. */
export const HOPS_MAX = 4;
