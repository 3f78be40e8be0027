import { validationError } from '../errors.ts';
import { type AttributeValue, copyOf, type Item, type MutableItem } from '../values/attribute-value.ts';
import type { Path } from './path.ts';

/** A list under change: what is removed leaves a hole, so that indexes go on meaning what they meant. */
type MutableList = (AttributeValue | undefined)[];

/** An item while it is updated: containers are copied before their first change, the original stays as it is. */
export class Draft {
  readonly #item: MutableItem;
  readonly #maps = new Map<Item, MutableItem>();
  readonly #lists = new Set<MutableList>();

  constructor(item: Item) {
    this.#item = copyOf(item);
  }

  set(path: Path, value: AttributeValue): void {
    const last = path[path.length - 1];
    const container = this.#containerOf(path);
    if (typeof last === 'string' && !Array.isArray(container)) container[last] = value;
    else if (typeof last === 'number' && Array.isArray(container)) setElement(container, last, value);
    else throw invalidPath();
  }

  remove(path: Path): void {
    const last = path[path.length - 1];
    const container = this.#containerOf(path);
    if (typeof last === 'string' && !Array.isArray(container)) delete container[last];
    else if (typeof last === 'number' && Array.isArray(container)) {
      if (last < container.length) container[last] = undefined;
    } else throw invalidPath();
  }

  /** Throws where nothing could stand at the path. */
  refuseMissingParent(path: Path): void {
    this.#containerOf(path);
  }

  finish(): Item {
    for (const list of this.#lists) {
      const elements = list.filter((element) => element !== undefined);
      list.splice(0, list.length, ...elements);
    }
    return this.#item;
  }

  #containerOf(path: Path): MutableItem | MutableList {
    let container: MutableItem | MutableList = this.#item;
    for (const element of path.slice(0, -1)) {
      container = this.#open(container, element);
    }
    return container;
  }

  /** The map or list at one step of a path, as a copy that may be changed and that stands in the place of the first. */
  #open(container: MutableItem | MutableList, element: string | number): MutableItem | MutableList {
    const value = Array.isArray(container)
      ? typeof element === 'number'
        ? container[element]
        : undefined
      : typeof element === 'string'
        ? container[element]
        : undefined;
    if (value?.M !== undefined) {
      const copy = this.#copyOfMap(value.M);
      put(container, element, { M: copy });
      return copy;
    }
    if (value?.L === undefined) throw invalidPath();
    const list = this.#copyOfList(value.L);
    put(container, element, { L: list as readonly AttributeValue[] });
    return list;
  }

  #copyOfMap(map: Item): MutableItem {
    const known = this.#maps.get(map);
    if (known !== undefined) return known;
    const copy = copyOf(map);
    this.#maps.set(copy, copy);
    return copy;
  }

  #copyOfList(list: readonly AttributeValue[]): MutableList {
    const known = list as MutableList;
    if (this.#lists.has(known)) return known;
    const copy = [...list];
    this.#lists.add(copy);
    return copy;
  }
}

/** Beyond its end an element is appended, in the order of the indexes. */
function setElement(list: MutableList, index: number, value: AttributeValue): void {
  list[index] = value;
}

function put(container: MutableItem | MutableList, element: string | number, value: AttributeValue): void {
  if (Array.isArray(container)) container[Number(element)] = value;
  else container[String(element)] = value;
}

function invalidPath() {
  return validationError('The document path provided in the update expression is invalid for update');
}
