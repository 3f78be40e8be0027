export { covers } from './covers.ts';
export { decodePacket } from './decode-packet.ts';
export { PacketDecoder } from './decoder.ts';
export { encodePacket } from './encoder.ts';
export { FilterTree } from './filter-tree.ts';
export type { Role } from './fixed-header.ts';
export { intersects } from './intersects.ts';
export * from './limits.ts';
export type * from './packets.ts';
export { type EncodedPublish, encodePublish, publishLength, withPacketId } from './publish-encoder.ts';
export { fromConnackReturnCode, reasonCodesOf, toConnackReturnCode } from './reason-code-tables.ts';
export { isFailure, isPassing, ReasonCode, reasonCodeName } from './reason-codes.ts';
export { filterForShape, shapeOf } from './shape.ts';
export {
  containsWildcard,
  levelCount,
  matches,
  type ParsedFilter,
  parseShared,
  parseTopicFilter,
  type TopicLimits,
  validateTopicFilter,
  validateTopicName,
} from './topic.ts';
export { TopicTree } from './topic-tree.ts';
export { isUtf8 } from './utf8.ts';
export { Violation } from './violation.ts';
