# SD2011 and the synthetic file of synthpop's vignette "Practical privacy metrics for synthetic data" as CSV, and what
# synthpop itself computes of them:  Rscript sd2011.R SYNTHPOP FOLDER
# SYNTHPOP is a checkout of the sources of the package (1.9-3), FOLDER takes original.csv and synthetic.csv.
arguments <- commandArgs(TRUE)
for (name in c("MASS", "nnet", "rpart", "lattice", "plyr", "stringr", "forcats", "classInt", "survival", "ggplot2"))
  suppressMessages(library(name, character.only = TRUE))
load(file.path(arguments[1], "data/SD2011.rda"))
for (file in list.files(file.path(arguments[1], "R"), full.names = TRUE))
  if (!grepl("zzz", file)) source(file)
keys <- c("sex", "age", "region", "placesize")
targets <- c("depress", "ls", "marital", "workab")
original <- SD2011[, c(keys, "depress", "income", "ls", "marital", "workab")]
synthetic <- syn(original, seed = 8564, print.flag = FALSE, cont.na = list(income = -8))
for (target in targets) {
  found <- disclosure(synthetic, original, print.flag = FALSE, plot = FALSE, target = target, keys = keys)
  print(cbind(target, found$ident, found$attrib[, 1:6], found$allCAPs), digits = 9)
}
for (name in c("original", "synthetic")) {
  table <- if (name == "original") original else synthetic$syn
  write.csv(table[, c(keys, targets)], file.path(arguments[2], paste0(name, ".csv")), row.names = FALSE)
}
