/**
 * Returns the name of an object that is made of the id of a construct: ids are often words such as `OrdersApi`, which become
 * `orders-api`. What is a valid name of an object stays as it is.
 */
export function derivedName(id: string): string {
  // With any other character no valid name comes of it, and the message should have the id as it was written.
  if (!/^[-.A-Za-z0-9]*$/.test(id)) return id;
  return id
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase();
}
