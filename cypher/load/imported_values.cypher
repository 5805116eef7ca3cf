// title: Values that an import set apart
// answers: Which values can't the files of an import hold?
// parameters: start, end
// columns: json
MATCH (v:ImportedValues) WHERE v.number >= $start AND v.number < $end
RETURN v.json AS json ORDER BY v.number
