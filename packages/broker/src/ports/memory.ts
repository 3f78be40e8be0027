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
   * The queues of this tenant are full: a further message for one of its sessions is refused until some have been
   * acknowledged. Messages in the queues stay.
   */
  isQueueFull(tenant: string): boolean;
}
