/** The memory of this process that the stores use. */
export interface Memory {
  /**
   * Nothing more is taken on, until some of it is gone: a packet that would be kept is refused with 0x97. A packet that was taken on
   * stays, and may always be delivered, acknowledged and made smaller.
   */
  readonly isFull: boolean;
  /**
   * The reserve is used up too, which is for the wills of clients that resume a session. From then on a CONNECT with a
   * will is turned away: a client could fill the memory by coming and going, as each of its wills may be queued.
   */
  readonly isReserveUsed: boolean;
  /**
   * The queues of this tenant hold as much as they may: what would be queued for one of its sessions is refused, until
   * some of it has been acknowledged. Their messages stay.
   */
  isQueueFull(tenant: string): boolean;
}
