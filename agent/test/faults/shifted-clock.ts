// Preloaded into the agent: its clock is CLOCK_SHIFT milliseconds off.
const shift = Number(process.env.CLOCK_SHIFT);
const now = Date.now.bind(Date);

globalThis.Date = new Proxy(Date, {
  construct: (date, args, target) => Reflect.construct(date, args.length > 0 ? args : [now() + shift], target),
  get: (date, property, receiver) => (property === 'now' ? () => now() + shift : Reflect.get(date, property, receiver)),
});
