/** The memory that the stores of this process use. */
export interface Memory {
  /**
   * No memory is left: a packet that the broker would have to keep is refused with 0x97. Packets that it has taken
   * stay, and are delivered and acknowledged.
   */
  readonly isFull: boolean;
  /**
   * The reserve for wills of resumed sessions is used up as well. A CONNECT with a will is turned away: a client could
   * otherwise fill the memory by coming and going, as each of its wills may be queued.
   */
  readonly isReserveUsed: boolean;
  /**
   * The queues of this tenant are full: a message for one of its sessions is refused until some messages have been
   * acknowledged. Queued messages stay.
   */
  isQueueFull(tenant: string): boolean;
}
