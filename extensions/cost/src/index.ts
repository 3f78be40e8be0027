export {
  type Bill,
  type BillLine,
  type BillOptions,
  billOf,
  billOfItems,
  type Item,
  usdPerMillion,
} from './bill.ts';
export { MEASURED_BUDGETS, SWEPT, type Units } from './budgets.ts';
export {
  type Bid,
  type BidOptions,
  bidsFor,
  type CheapestRange,
  CLIENTS_MAX,
  GATEWAY_DOOR,
  NODE_DOOR,
} from './cheapest.ts';
export { ably, appSyncEvents, awsIotCore, compare, emqxServerless, type Offer } from './compare.ts';
export { type Estimate, estimate } from './estimate.ts';
export { type Finding, findingOf, type Surroundings, usdText } from './finding.ts';
export { type Floor, floorOf, type UnavoidableFrames } from './floor.ts';
export { INVOICE_FIELDS, type InvoicedUsage, invoiceOf } from './invoice.ts';
export { meteredUsage, UsageFormatError } from './metered-usage.ts';
export { type Machine, type NodeDoor, nodeDoor, SMALL_MACHINE } from './node-door.ts';
export {
  OBJECT_BUDGETS,
  OBJECT_DOOR,
  type ObjectOffer,
  type ObjectUse,
  objectDoor,
  objectItems,
} from './object-door.ts';
export type { Operation, OperationName } from './operation.ts';
export { type FreeTier, GIGABYTE, type Price, unitUsd, usdOf } from './price.ts';
export { PRICE_BOOK_DATE, PRICE_BOOK_REGION, type PriceName, priceBook, priceOf } from './price-book.ts';
export { PROGRAMS, type Program } from './programs.ts';
export { type ProgramBids, programBids, programsText, rangesText } from './programs-text.ts';
export {
  billText,
  type Choice,
  choicesText,
  offerText,
  priceBookText,
  quantityText,
  tableText,
} from './text.ts';
export { NO_TRAFFIC, type Traffic } from './traffic.ts';
export {
  addUsage,
  scaleUsage,
  USAGE_KINDS,
  USAGE_NAMES,
  type Usage,
  type UsageName,
  usage,
} from './usage.ts';
export { type GatewayCounters, type RequestUnits, usageOf } from './usage-of-counters.ts';
export {
  FRAME_BYTES_MAX,
  type GivenWorkload,
  WORKLOAD_FIELDS,
  type Workload,
  WorkloadError,
  type WorkloadField,
  workloadFrom,
} from './workload.ts';
